# Prints what an agent is, in sections "== NAME". $1 the data directory, then what programs.sh, which
# stands behind this, is to look for. Needs no privileges; what is not there is left out.
section() { echo "== $1"; }

section lscpu
lscpu | grep -v -e '^Flags' -e '^Vulnerab' -e 'BogoMIPS' -e 'MHz:' -e '^NUMA node[0-9]'
section cpu
echo "online $(getconf _NPROCESSORS_ONLN)"
echo "usable $(nproc)"
echo "governor $(cat /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor | sort -u | tr '\n' ' ')"
echo "frequency_driver $(cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_driver)"
echo "maximum_khz $(cat /sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq)"
echo "no_turbo $(cat /sys/devices/system/cpu/intel_pstate/no_turbo)"
echo "boost $(cat /sys/devices/system/cpu/cpufreq/boost)"
echo "smt $(cat /sys/devices/system/cpu/smt/control)"
echo "cgroup_cpu $(cat /sys/fs/cgroup/cpu.max)"
echo "cgroup_memory $(cat /sys/fs/cgroup/memory.max)"
section meminfo
grep -e '^MemTotal' -e '^SwapTotal' -e '^HugePages_Total' -e '^Hugepagesize' /proc/meminfo
section virtualisation
echo "detected $(systemd-detect-virt)"
echo "product $(cat /sys/class/dmi/id/sys_vendor) $(cat /sys/class/dmi/id/product_name)"
echo "hypervisor_flag $(grep -c -m 1 -w hypervisor /proc/cpuinfo)"
section kernel
echo "release $(uname -r)"
echo "machine $(uname -m)"
echo "distribution $(. /etc/os-release && echo "$PRETTY_NAME")"
echo "transparent_hugepage $(cat /sys/kernel/mm/transparent_hugepage/enabled)"
echo "transparent_hugepage_defrag $(cat /sys/kernel/mm/transparent_hugepage/defrag)"
echo "clocksource $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)"
section sysctl
cd /proc/sys && for name in vm/swappiness vm/dirty_* vm/overcommit_* vm/nr_hugepages vm/zone_reclaim_mode \
    vm/min_free_kbytes vm/max_map_count kernel/sched_* kernel/numa_balancing kernel/perf_event_paranoid \
    kernel/sem kernel/shmmax kernel/shmall net/core/somaxconn fs/aio-max-nr kernel/io_uring_disabled; do
    [ -f "$name" ] && echo "$(echo "$name" | tr / .) $(tr '\t' ' ' <"$name")"
done
section storage
place=$1
shift
while [ -n "$place" ] && [ ! -d "$place" ]; do place=${place%/*}; done
cd -- "${place:-/}" && df -P -B 1 . | tail -n 1 | awk '{ print "total_bytes", $2; print "free_bytes", $4 }'
# mountinfo: the last mount whose point is df's; its options, then after " - " type, source and the filesystem's own.
mount=$(df -P . | tail -n 1 | sed 's/^.*% //')
line=$(awk -v mount="$(printf %s "$mount" | sed 's/ /\\\\040/g')" '$5 == mount' /proc/self/mountinfo | tail -n 1)
echo "mount $mount"
echo "$line" | awk '{ for (i = 7; $i != "-" && i < NF; i++); print "filesystem", $(i + 1); print "device", $(i + 2);
                      print "options", $6; print "filesystem_options", $(i + 3) }'
device=$(readlink -f "/sys/dev/block/$(echo "$line" | cut -d ' ' -f 3)")
[ -n "$device" ] && [ -d "$device/queue" ] || device=${device%/*}
if [ -n "$device" ] && [ -d "$device/queue" ]; then
    echo "disk ${device##*/}"
    echo "model $(cat "$device/device/model")"
    for name in rotational scheduler read_ahead_kb write_cache nr_requests; do
        echo "$name $(cat "$device/queue/$name")"
    done
fi
section account
echo "uid $(id -u)"
section tools
